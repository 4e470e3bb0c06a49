//! The arguments of `kith cluster`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use toml::Value;

use super::{DataFlag, text};

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Show the running node of this data directory: its role, its links, and what waits in them.
    ///
    /// Example: kith cluster status --data ./data/home --watch
    #[command(verbatim_doc_comment)]
    Status(ClusterStatus),
    /// Give the role of the home to another home that stands by. The old home ends, and its unit starts it again as a standby.
    /// A node with homes of several slots gives all of them to the other nodes, one after the other, and gets none until it starts again.
    ///
    /// Works at the home, with one slot also at a front, and needs the secret of the cluster.
    ///
    /// Example: kith cluster drain --cluster-secret-file /etc/kith/cluster.secret
    #[command(verbatim_doc_comment)]
    Drain(ClusterDrain),
    /// Give the role of the home to one node that stands by; `kith cluster status` lists their names. A cluster with several slots refuses it:
    /// see pin and drain.
    ///
    /// Example: kith cluster move "kith 10.0.0.2:8080" --cluster-secret-file /etc/kith/cluster.secret
    #[command(verbatim_doc_comment)]
    Move(ClusterMove),
    /// Keep the home of a site on one node, while that node runs. All sites of its slot move with it, within seconds.
    ///
    /// Example: kith cluster pin "kith 10.0.0.2:8080" --site garden
    #[command(verbatim_doc_comment)]
    Pin(ClusterPin),
    /// Let the cluster choose the node of a site again.
    ///
    /// Example: kith cluster unpin --site garden
    #[command(verbatim_doc_comment)]
    Unpin(PinnedSlot),
}

#[derive(Debug, Args)]
pub(crate) struct ClusterPin {
    /// The name of the node; `kith cluster status` lists all.
    pub node: String,
    #[command(flatten)]
    pub slot: PinnedSlot,
}

/// One slot of a cluster.
#[derive(Debug, Args)]
pub(crate) struct PinnedSlot {
    /// A site: its slot, with all sites in it.
    #[arg(long, value_name = "KEY", required_unless_present = "slot", conflicts_with = "slot")]
    pub site: Option<String>,
    /// The number of a slot.
    #[arg(long, value_name = "N")]
    pub slot: Option<u8>,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct ClusterDrain {
    /// File with the secret of the cluster [env: KITH_CLUSTER_SECRET_FILE].
    #[arg(long, value_name = "FILE")]
    pub cluster_secret_file: Option<PathBuf>,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct ClusterMove {
    /// The name of the node.
    pub node: String,
    #[command(flatten)]
    pub drain: ClusterDrain,
}

impl ClusterDrain {
    pub(crate) fn settings(&self) -> Vec<(&'static str, Value)> {
        let secret =
            self.cluster_secret_file.iter().map(|path| ("cluster.secret_file", text(path.display())));
        self.data.settings().into_iter().chain(secret).collect()
    }
}

#[derive(Debug, Args)]
pub(crate) struct ClusterStatus {
    /// Repeat every second until Ctrl-C.
    #[arg(long)]
    pub watch: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataFlag,
}
