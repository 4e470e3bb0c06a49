//! Fetches linked pages: a few at a time, each address once per interval, with re-encoded pictures.

use std::collections::HashMap;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chat::{
    Blobs, FileId, FileType, NewPicture, NewPreview, Node, Picture, PreviewWanted, Previewer, Rendition,
    SiteId, UserId,
};
use preview::{Client, Page, WebAddress};
use rand::Rng;
use tokio::sync::mpsc;
use web::files::{PictureBy, PictureQueue, Pictures, Remade};
use web::{Bounds, FairQueue, Turn};

/// Requests that wait; further messages get no preview. One user may link many slow pages.
const BOUNDS: Bounds = Bounds { waiting: 256, of_site: 64, of_user: 8 };
/// A request that waits longer is dropped, because the message has been read by then.
const PATIENCE: Duration = Duration::from_secs(60);
/// Pages that are fetched at once.
const AT_ONCE: usize = 4;
/// Cached addresses, and the lifetime of an entry; a missing answer is cached, too.
const KEPT: usize = 512;
const KEPT_FOR: Duration = Duration::from_secs(3_600);
const NOTHING_FOR: Duration = Duration::from_secs(300);
/// A larger thumbnail is left out.
const PICTURE_BYTES: u64 = 128 * 1024;

/// The metadata of a page, ready for any message of a site.
#[derive(Clone)]
struct Found {
    /// The final address after redirects.
    at: Arc<str>,
    page: Arc<Page>,
    picture: Option<Arc<Small>>,
}

/// A picture in its displayed size.
struct Small {
    kind: FileType,
    picture: Picture,
    bytes: Vec<u8>,
}

/// Queues the node's requests. Sites take turns, and so do the users of a site.
struct PreviewQueue {
    queue: Arc<FairQueue>,
    wishes: mpsc::Sender<(PreviewWanted, Turn)>,
}

impl PreviewQueue {
    fn new() -> (PreviewQueue, mpsc::Receiver<(PreviewWanted, Turn)>) {
        let (wishes, waiting) = mpsc::channel(AT_ONCE + BOUNDS.waiting);
        (PreviewQueue { queue: FairQueue::new(AT_ONCE, BOUNDS), wishes }, waiting)
    }
}

impl Previewer for PreviewQueue {
    fn wanted(&self, wanted: PreviewWanted) {
        let turn = self.queue.line_up(wanted.by);
        if turn.is_err() || turn.is_ok_and(|turn| self.wishes.try_send((wanted, turn)).is_err()) {
            tracing::debug!("too many previews are pending; a message stays without one");
        }
    }
}

/// Cached until then; None: the page has no metadata.
type Answer = (Instant, Option<Found>);

struct Office {
    client: Client,
    node: Arc<Node>,
    /// None: this node stores no files, so previews have no pictures.
    blobs: Option<Arc<dyn Blobs>>,
    pictures: Arc<PictureQueue>,
    /// By site, because sites have different filters.
    kept: Mutex<HashMap<(SiteId, Box<str>), Answer>>,
}

/// Starts the tasks that fetch pages; they end with the runtime.
pub(crate) fn begin(
    client: Client,
    node: &Arc<Node>,
    blobs: Option<Arc<dyn Blobs>>,
    pictures: Arc<PictureQueue>,
    runtime: &tokio::runtime::Handle,
) {
    let office = Office { client, node: Arc::clone(node), blobs, pictures, kept: Mutex::default() };
    let (queue, waiting) = PreviewQueue::new();
    runtime.spawn(Arc::new(office).serve(waiting));
    node.preview_by(Arc::new(queue));
}

impl Office {
    async fn serve(self: Arc<Self>, mut waiting: mpsc::Receiver<(PreviewWanted, Turn)>) {
        while let Some((wanted, turn)) = waiting.recv().await {
            let office = Arc::clone(&self);
            tokio::spawn(async move {
                if let Ok(_place) = turn.wait(PATIENCE).await {
                    office.answer(wanted).await;
                }
            });
        }
    }

    async fn answer(&self, wanted: PreviewWanted) {
        let site = wanted.by.site;
        let found = match self.known(site, &wanted.url) {
            Some(found) => found,
            None => {
                let found = self.look(&wanted.url, wanted.by).await;
                self.keep(site, &wanted.url, found.clone());
                found
            }
        };
        let Some(Found { page, picture, at }) = found else { return };
        if !self.node.may_preview(site, &at) {
            return;
        }
        let picture = picture.and_then(|small| self.place(wanted.by.site, &small));
        let preview = NewPreview {
            url: wanted.url.clone(),
            title: page.title.as_str().into(),
            description: page.description.as_str().into(),
            site: page.site.as_str().into(),
            picture: picture.clone(),
        };
        let (blobs, runtime) = (self.blobs.clone(), tokio::runtime::Handle::current());
        self.node.put_preview(wanted, preview, crate::now(), move |is_there| {
            // Removes the bytes of a picture without a message.
            if let (false, Some(blobs), Some(picture)) = (is_there, blobs, picture) {
                runtime.spawn_blocking(move || blobs.remove(picture.id));
            }
        });
    }

    /// The outer None: not cached.
    fn known(&self, site: SiteId, url: &str) -> Option<Option<Found>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(&(site, url.into()))
            .filter(|(until, _)| *until > Instant::now())
            .map(|(_, found)| found.clone())
    }

    fn keep(&self, site: SiteId, url: &str, found: Option<Found>) {
        let life = if found.is_some() { KEPT_FOR } else { NOTHING_FOR };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            let now = Instant::now();
            kept.retain(|_, (until, _)| *until > now);
        }
        if kept.len() >= KEPT
            && let Some(first) = kept.iter().min_by_key(|(_, (until, _))| *until).map(|(key, _)| key.clone())
        {
            kept.remove(&first);
        }
        kept.insert((site, url.into()), (Instant::now() + life, found));
    }

    /// None: the page has no metadata, or did not answer.
    async fn look(&self, url: &str, by: UserId) -> Option<Found> {
        let site = by.site;
        let address = self.client.parse(url).ok()?;
        // Filters check the called addresses: a message can write a name differently, and a page can redirect.
        let may = |at: &WebAddress| self.node.may_preview(site, at.as_str());
        let (page, at) = match self.client.page(&address, &may).await {
            Ok(found) => found,
            Err(why) => {
                tracing::debug!(%why, "a page has no preview");
                return None;
            }
        };
        if page.title.is_empty() {
            return None;
        }
        let picture = match (&page.picture, &self.blobs) {
            (Some(reference), Some(blobs)) => match self.client.picture(&at, reference, &may).await {
                Ok(bytes) => self.small(blobs, by, bytes).await,
                Err(_) => None,
            },
            _ => None,
        };
        Some(Found { at: at.as_str().into(), page: Arc::new(page), picture: picture.map(Arc::new) })
    }

    /// Re-encoded in the size of a thumbnail.
    async fn small(&self, blobs: &Arc<dyn Blobs>, by: UserId, bytes: Vec<u8>) -> Option<Small> {
        let blobs = Arc::clone(blobs);
        let made = self.pictures.run(PictureBy { user: by, is_guest: false }, move |pictures| {
            let id = fresh(by.site);
            let made = small(&*blobs, pictures, id, &bytes);
            if let Err(error) = blobs.remove(id) {
                tracing::warn!(%error, "cannot remove the rest of a failed picture");
            }
            made
        });
        made.await.ok()?.ok()?
    }

    /// Writes a picture for one message.
    fn place(&self, site: SiteId, small: &Small) -> Option<NewPicture> {
        let blobs = self.blobs.as_ref()?;
        let id = fresh(site);
        let write = || -> io::Result<()> {
            let mut file = blobs.create(id, Rendition::Picture)?;
            file.write_all(&small.bytes)?;
            file.sync_all()?;
            blobs.settle(id)
        };
        match tokio::task::block_in_place(write) {
            Ok(()) => {
                let bytes = small.bytes.len() as u64;
                Some(NewPicture { id, kind: small.kind, bytes, picture: small.picture.clone() })
            }
            Err(error) => {
                tracing::warn!(%error, "cannot write the picture of a preview");
                None
            }
        }
    }
}

fn fresh(site: SiteId) -> FileId {
    FileId { site, number: rand::rng().random() }
}

/// The thumbnail of a picture, or a small picture itself; None for an invalid one.
fn small(blobs: &dyn Blobs, pictures: &dyn Pictures, id: FileId, bytes: &[u8]) -> io::Result<Option<Small>> {
    let kind = FileType::of(&bytes[..bytes.len().min(FileType::HEAD_BYTES)], false);
    if !kind.is_picture() {
        return Ok(None);
    }
    let mut upload = blobs.upload(id)?;
    upload.write_all(bytes)?;
    upload.seek(SeekFrom::Start(0))?;
    let (whole, thumbnail) = (blobs.create(id, Rendition::Picture)?, blobs.create(id, Rendition::Thumbnail)?);
    let read = |rendition| read_all(blobs, id, rendition);
    let Ok(Remade { kind, picture, .. }) = pictures.remake(upload, kind, whole, thumbnail) else {
        return Ok(None);
    };
    blobs.settle(id)?;
    let rendition = if picture.has_thumbnail { Rendition::Thumbnail } else { Rendition::Picture };
    let bytes = read(rendition)?;
    let (width, height) = match picture.has_thumbnail {
        true => fitted(picture.width, picture.height),
        false => (picture.width, picture.height),
    };
    let is_small = bytes.len() as u64 <= PICTURE_BYTES && !bytes.is_empty();
    let picture = Picture { width, height, has_thumbnail: false, ..picture };
    Ok(is_small.then_some(Small { kind, picture, bytes }))
}

fn read_all(blobs: &dyn Blobs, id: FileId, rendition: Rendition) -> io::Result<Vec<u8>> {
    let blob = blobs.open(id, rendition)?;
    let size = usize::try_from(blob.bytes().min(PICTURE_BYTES + 1)).unwrap_or(0);
    let mut bytes = vec![0; size];
    blob.read_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// As the thumbnail was scaled.
fn fitted(width: u32, height: u32) -> (u32, u32) {
    let longest = u64::from(width.max(height)).max(1);
    let scaled = |side: u32| {
        u32::try_from(u64::from(side) * u64::from(picture::THUMBNAIL_SIDE) / longest).unwrap_or(1).max(1)
    };
    (scaled(width), scaled(height))
}

#[cfg(test)]
mod tests {
    use chat::{ConversationId, Sub};

    use super::*;

    fn wish(site: u32, user: u32) -> PreviewWanted {
        let by = UserId { site: SiteId(site), num: user };
        let conversation = ConversationId { site: by.site, key: 1 };
        let by_sub = Sub::parse("anna").expect("a sub");
        PreviewWanted { conversation, seq: chat::Seq(1), by, by_sub, url: "https://slow.example/".into() }
    }

    #[test]
    fn links_of_one_user_leave_room_for_others_and_for_other_sites() {
        let (queue, mut waiting) = PreviewQueue::new();
        let taken = |site: u32, user: u32| {
            let before = waiting.len();
            (0..500).for_each(|_| queue.wanted(wish(site, user)));
            waiting.len() - before
        };
        assert_eq!(taken(1, 1), AT_ONCE + BOUNDS.of_user);
        assert_eq!(taken(1, 2), BOUNDS.of_user);
        assert_eq!((3..99).map(|user| taken(1, user)).sum::<usize>(), BOUNDS.of_site - 2 * BOUNDS.of_user);
        assert_eq!(taken(2, 1), BOUNDS.of_user, "another site");
        // Each task has its own turn; its end frees the place.
        while let Ok((wanted, turn)) = waiting.try_recv() {
            drop((wanted, turn));
        }
        queue.wanted(wish(1, 1));
        assert_eq!(waiting.len(), 1);
    }
}
