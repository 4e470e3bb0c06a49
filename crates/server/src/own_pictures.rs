//! Encodes pictures anew that members have published with apps, and gives them back to the domain.

use std::sync::Arc;

use chat::{MadePicture, Node, PictureMaker, PublishedPicture, Refusal, UserId};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use web::files::{PictureBy, PictureQueue};

/// Pictures that wait, of at most 128 KiB each. One more is refused: its member has the picture when an app comes next.
const WAITING: usize = 64;
/// Pictures that are made, or wait in the queue of all pictures, which is fair between sites and users.
const AT_ONCE: usize = 16;

struct Maker {
    wanted: mpsc::Sender<(UserId, PublishedPicture)>,
}

impl PictureMaker for Maker {
    fn wanted(&self, by: UserId, picture: PublishedPicture) -> Result<(), Refusal> {
        let refusal = Refusal::Overloaded { retry_after_ms: 1_000 };
        self.wanted.try_send((by, picture)).map_err(|_| refusal)
    }
}

/// Starts the task, which ends with the runtime.
pub(crate) fn begin(node: &Arc<Node>, pictures: Arc<PictureQueue>, runtime: &Handle) {
    let (sender, mut receiver) = mpsc::channel::<(UserId, PublishedPicture)>(WAITING);
    let for_task = Arc::clone(node);
    runtime.spawn(async move {
        let places = Arc::new(tokio::sync::Semaphore::new(AT_ONCE));
        while let Some((by, picture)) = receiver.recv().await {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            let (node, pictures) = (Arc::clone(&for_task), Arc::clone(&pictures));
            tokio::spawn(async move {
                make(&node, &pictures, by, picture).await;
                drop(place);
            });
        }
    });
    node.pictures_by(Arc::new(Maker { wanted: sender }));
}

/// Where the queue is full or the budget is spent, the member has no own picture until an app comes again.
async fn make(node: &Node, pictures: &PictureQueue, by: UserId, picture: PublishedPicture) {
    let PublishedPicture { source, bytes } = picture;
    let payer = PictureBy { user: by, is_guest: false };
    let made: Option<MadePicture> =
        match pictures.run(payer, move |pictures| web::made_picture(pictures, &bytes)).await {
            Ok(Ok(made)) => made,
            Ok(Err(error)) => {
                tracing::error!(%error, "cannot make the picture of a member");
                None
            }
            Err(refusal) => {
                tracing::debug!(%refusal, "the picture of a member is not made now");
                None
            }
        };
    node.own_picture_made(by, source, made, |_| ());
}
