//! The files' part of the port.

use super::MemoryStore;
use crate::{
    Append, Appended, Done, File, FileFound, FileId, FileLimits, FileRow, FileStore, NewFile, Refusal,
    StoreError, Timestamp,
};

impl FileStore for MemoryStore {
    fn create_file(&self, file: NewFile, limits: FileLimits, done: Done<Result<(), Refusal>>) {
        self.write(move |tables| tables.create_file(file, limits), done);
    }

    fn file(&self, id: FileId, done: Done<Option<FileRow>>) {
        self.read(move |tables| tables.file(id), done);
    }

    fn complete_file(&self, id: FileId, found: FileFound, done: Done<Option<FileRow>>) {
        self.write(move |tables| tables.complete_file(id, found), done);
    }

    fn remove_files(&self, files: Vec<FileId>, done: Done<Vec<FileId>>) {
        self.write(move |tables| files.into_iter().filter(|id| tables.remove_file(*id)).collect(), done);
    }

    fn append_with_files(
        &self,
        append: Append,
        files: Vec<FileId>,
        done: Done<Result<(Appended, Vec<File>), Refusal>>,
    ) {
        self.write(move |tables| tables.append_with_files(append, &files), done);
    }

    fn grow_file(&self, id: FileId, arrived: u64, limits: FileLimits, done: Done<Result<(), Refusal>>) {
        self.write(move |tables| tables.grow_file(id, arrived, limits), done);
    }

    fn stale_files(
        &self,
        before: Timestamp,
        empty_before: Timestamp,
        limit: u32,
    ) -> Result<Vec<FileId>, StoreError> {
        Ok(self.lock().tables.stale_files(before, empty_before, limit))
    }

    fn forget_files(&self, files: &[FileId]) -> Result<(), StoreError> {
        self.lock().tables.forget_files(files);
        Ok(())
    }
}
