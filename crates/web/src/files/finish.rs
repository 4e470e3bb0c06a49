//! The end of an upload: what is it? Pictures are made anew.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use chat::{Blobs, FileFound, FileId, FileRow, FileType, Picture, Rendition};
use web_proto::Code;

use super::Desk;
use super::asked::{Refused, answer, blocking};

/// Who makes pictures anew, where a mistake in a decoder can do no harm.
pub trait Pictures: Send + Sync + 'static {
    /// Reads a picture of this type and writes it anew, and its thumbnail where it is larger than that. Blocks, for a bounded time.
    fn remake(
        &self,
        from: File,
        kind: FileType,
        whole: File,
        thumbnail: File,
    ) -> Result<Remade, PictureFault>;
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

impl Desk {
    /// Looks at an upload of which all has come, and writes down what it is. Safe to do again where it was cut off.
    pub(super) async fn finish(&self, row: &FileRow) -> Result<(), Refused> {
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
            true => self.remake(id, file, kind).await?,
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

    async fn remake(&self, id: FileId, file: File, kind: FileType) -> Result<FileFound, Refused> {
        let _maker = self.makers.acquire().await.map_err(|_| Refused::of(Code::Internal))?;
        let (blobs, pictures) = (Arc::clone(&self.files.blobs), Arc::clone(&self.files.pictures));
        let outcome = blocking(move || match remake(&*blobs, &*pictures, id, file, kind)? {
            Ok(remade) => Ok(Ok(remade)),
            Err(why) => {
                blobs.remove(id)?;
                Ok(Err(why))
            }
        });
        match outcome.await? {
            Ok(remade) => Ok(FileFound {
                kind: remade.kind,
                bytes: remade.bytes,
                kept_bytes: remade.bytes + remade.thumbnail_bytes,
                picture: Some(remade.picture),
            }),
            Err(why) => {
                tracing::debug!(%why, "a picture is refused");
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
