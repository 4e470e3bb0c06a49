// Prepares a file for upload: a large photo is scaled down, which also removes its location.

/** The server scales to the same size. A scaled photo has about a tenth of the bytes from a camera. */
const LONGEST_SIDE = 2_560;
const LARGE_BYTES = 1_500_000;
const PREVIEW_SIDE = 96;

export interface Prepared {
  bytes: Blob;
  name: string;
  preview?: ImageBitmap;
}

export async function prepared(file: File): Promise<Prepared> {
  const name = nameOf(file);
  if (!/^image\/(jpeg|png|webp|gif)$/.test(file.type)) return { bytes: file, name };
  // The server checks pictures that the browser cannot read.
  const picture = await createImageBitmap(file).catch(() => undefined);
  if (picture === undefined) return { bytes: file, name };
  const preview = await scaled(picture, PREVIEW_SIDE);
  const isLarge = Math.max(picture.width, picture.height) > LONGEST_SIDE;
  const isPhoto = file.type === 'image/jpeg';
  if (!isPhoto || (!isLarge && file.size < LARGE_BYTES)) return { bytes: file, name, preview };
  const smaller = await encoded(await scaled(picture, LONGEST_SIDE)).catch(() => undefined);
  const bytes = smaller && smaller.size < file.size ? smaller : file;
  return { bytes, name, preview };
}

/**
 * A picture for a small display, scaled on the device to send fewer bytes. Rejects if the browser cannot
 * read the file.
 */
export async function smallPicture(
  file: File,
  longest: number,
): Promise<{ bytes: Blob; bitmap: ImageBitmap }> {
  const bitmap = await scaled(await createImageBitmap(file), longest);
  // A photo has no transparent parts.
  const bytes = await encoded(bitmap, file.type === 'image/jpeg' ? 'image/jpeg' : 'image/png');
  return { bytes, bitmap };
}

/** Pasted files have no name in some browsers. */
function nameOf(file: File): string {
  return file.name || `file.${file.type.split('/')[1] ?? 'bin'}`;
}

async function scaled(picture: ImageBitmap, longest: number): Promise<ImageBitmap> {
  const share = Math.min(1, longest / Math.max(picture.width, picture.height));
  return createImageBitmap(picture, {
    resizeWidth: Math.max(1, Math.round(picture.width * share)),
    resizeHeight: Math.max(1, Math.round(picture.height * share)),
    resizeQuality: 'high',
  });
}

function encoded(picture: ImageBitmap, type = 'image/jpeg'): Promise<Blob> {
  const canvas = document.createElement('canvas');
  canvas.width = picture.width;
  canvas.height = picture.height;
  canvas.getContext('2d')?.drawImage(picture, 0, 0);
  return new Promise((resolve, reject) =>
    canvas.toBlob(blob => (blob ? resolve(blob) : reject(new Error('no blob'))), type, 0.88),
  );
}
