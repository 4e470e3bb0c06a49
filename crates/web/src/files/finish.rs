//! The end of an upload: finds out its type, and encodes pictures anew.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::time::Duration;

use chat::{Blobs, FileFound, FileId, FileRow, FileType, Picture, Refusal, Rendition};
use web_proto::Code;

use super::asked::{Refused, answer, blocking};
use super::{FilesState, PictureBy};

/// Encodes pictures anew in a place where a flaw in a decoder can do no harm.
pub trait Pictures: Send + Sync + 'static {
    /// Reads a picture of this type and writes it anew, and its thumbnail where it is larger than that. Blocks, for a bounded time.
    fn make(&self, from: File, kind: FileType, whole: File, thumbnail: File) -> Made;

    /// Like [`make`](Self::make), for a picture of a person: smaller, and without a thumbnail.
    fn portrait(&self, from: File, kind: FileType, portrait: File) -> Made;

    fn remake(
        &self,
        from: File,
        kind: FileType,
        whole: File,
        thumbnail: File,
    ) -> Result<Remade, PictureFault> {
        self.make(from, kind, whole, thumbnail).outcome
    }
}

/// The result for a picture, and its cost.
#[derive(Debug)]
pub struct Made {
    pub outcome: Result<Remade, PictureFault>,
    pub cpu: Duration,
}

/// A picture that was made anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remade {
    pub kind: FileType,
    pub picture: Picture,
    pub bytes: u64,
    pub thumbnail_bytes: u64,
}

#[derive(Debug)]
pub enum PictureFault {
    /// It is broken, too large, or takes too long.
    Bad(String),
    /// It could not be tried.
    Failed(io::Error),
}

impl FilesState {
    /// Finds out the type of a complete upload and stores it. Safe to repeat after an interruption.
    pub(super) async fn finish(&self, row: &FileRow, by: PictureBy) -> Result<(), Refused> {
        let (id, voice, bytes) = (row.file.id, row.file.voice, row.file.bytes);
        let blobs = Arc::clone(&self.files.blobs);
        let (file, kind) = blocking(move || {
            let mut file = blobs.upload(id)?;
            let kind = FileType::of(&head(&mut file)?, voice);
            Ok((file, kind))
        })
        .await?;
        let found = match kind.is_picture() {
            false => FileFound { kind, bytes, kept_bytes: bytes, picture: None },
            true => self.remake(id, file, kind, by).await?,
        };
        let is_picture = found.picture.is_some();
        answer(|then| self.files.node.complete_file(id, found, then)).await?;
        let blobs = Arc::clone(&self.files.blobs);
        blocking(move || {
            if is_picture {
                blobs.drop_upload(id)?;
            }
            Ok(blobs.settle(id)?)
        })
        .await
    }

    /// Where the queue is full or the budget is spent, the upload stays as it is: the next request about it tries again.
    async fn remake(
        &self,
        id: FileId,
        file: File,
        kind: FileType,
        by: PictureBy,
    ) -> Result<FileFound, Refused> {
        let blobs = Arc::clone(&self.files.blobs);
        let outcome =
            self.files.pictures.run(by, move |pictures| match remake(&*blobs, pictures, id, file, kind)? {
                Ok(remade) => Ok(Ok(remade)),
                Err(why) => {
                    blobs.remove(id)?;
                    Ok(Err(why))
                }
            });
        let outcome: Result<Result<Remade, String>, Refused> =
            outcome.await.map_err(|refusal| match refusal {
                Refusal::Overloaded { .. } => {
                    Refused::from(refusal).saying("the picture waits behind others: ask again soon")
                }
                Refusal::RateLimited { .. } => {
                    Refused::from(refusal).saying("too many large pictures: this one is tried again later")
                }
                _ => Refused::from(refusal),
            })?;
        match outcome? {
            Ok(remade) => Ok(FileFound {
                kind: remade.kind,
                bytes: remade.bytes,
                kept_bytes: remade.bytes + remade.thumbnail_bytes,
                picture: Some(remade.picture),
            }),
            Err(why) => {
                tracing::debug!(%why, "refused a picture");
                answer(|then| self.files.node.remove_file(id, then)).await?;
                Err(Refused::of(Code::BadPicture))
            }
        }
    }
}

/// The inner answer: it is a picture, or why not.
fn remake(
    blobs: &dyn Blobs,
    pictures: &dyn Pictures,
    id: FileId,
    file: File,
    kind: FileType,
) -> Result<Result<Remade, String>, Refused> {
    let whole = blobs.create(id, Rendition::Picture)?;
    let thumbnail = blobs.create(id, Rendition::Thumbnail)?;
    let kept = (whole.try_clone()?, thumbnail.try_clone()?);
    match pictures.remake(file, kind, whole, thumbnail) {
        Ok(remade) => {
            kept.0.sync_all()?;
            kept.1.sync_all()?;
            Ok(Ok(remade))
        }
        Err(PictureFault::Bad(why)) => Ok(Err(why)),
        Err(PictureFault::Failed(error)) => Err(error.into()),
    }
}

fn head(file: &mut File) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(0))?;
    let mut head = Vec::with_capacity(FileType::HEAD_BYTES);
    Read::by_ref(file).take(FileType::HEAD_BYTES as u64).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(head)
}
