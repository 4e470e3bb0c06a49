// Measures the server's memory during an upload of 100 MB: `node scripts/upload_memory.mjs …/kith`.
//
// Starts a demo and sends three files of random bytes, one after the other. Reads the resident memory 200 times a
// second meanwhile, and prints by how much it grew at most. Exits with 1 if that is more than 4 MB.

import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const FILE_BYTES = 100 * 1024 * 1024;
const PIECE = randomBytes(1024 * 1024);
const MOST_BYTES = 4_000_000;

const [kith] = process.argv.slice(2);
if (!kith) throw new Error('usage: node scripts/upload_memory.mjs KITH');
const folder = await mkdtemp(join(tmpdir(), 'kith-upload-'));
const port = await freePort();
const env = { ...process.env, XDG_RUNTIME_DIR: folder };
const data = join(folder, 'data');
const server = spawn(
  kith,
  ['demo', '--strangers', '--data', data, '--http', `127.0.0.1:${port}`, '--log', 'warn'],
  { env, stdio: ['ignore', 'pipe', 'inherit'] },
);
try {
  await new Promise((resolve, reject) => {
    server.stdout.on('data', text => String(text).includes('is running') && resolve());
    server.on('exit', () => reject(new Error('the server did not start')));
  });
  const { stdout } = await promisify(execFile)(
    kith,
    ['token', '--data', data, '--site', 'demo', '--user', 'anna'],
    { env },
  );
  const grown = [];
  for (let turn = 1; turn <= 3; turn += 1) {
    const { before, peak, seconds } = await upload(stdout.trim());
    grown.push(peak - before);
    console.log(
      `upload ${turn}: ${seconds.toFixed(2)} s, resident memory ${megabytes(before)} MB, at most ${megabytes(peak)} MB meanwhile: +${megabytes(peak - before)} MB`,
    );
  }
  process.exitCode = Math.max(...grown) > MOST_BYTES ? 1 : 0;
} finally {
  server.removeAllListeners('exit');
  server.kill();
  await rm(folder, { recursive: true });
}

async function upload(token) {
  const headers = { authorization: `Bearer ${token}`, 'tus-resumable': '1.0.0' };
  const base64 = text => Buffer.from(text).toString('base64');
  const metadata = { site: 'demo', user: 'raj', filename: 'large.bin' };
  const made = await ask('POST', '/v1/files', {
    ...headers,
    'upload-length': FILE_BYTES,
    'upload-metadata': Object.entries(metadata)
      .map(([name, value]) => `${name} ${base64(value)}`)
      .join(),
  });
  const { pathname } = new URL(made.headers.location, `http://127.0.0.1:${port}`);
  const before = await resident();
  let peak = before;
  const looks = setInterval(async () => {
    peak = Math.max(peak, await resident());
  }, 5);
  const begin = performance.now();
  await ask(
    'PATCH',
    pathname,
    {
      ...headers,
      'upload-offset': 0,
      'content-type': 'application/offset+octet-stream',
      'content-length': FILE_BYTES,
    },
    FILE_BYTES,
  );
  clearInterval(looks);
  return { before, peak, seconds: (performance.now() - begin) / 1000 };
}

/** Sends a request with `bytes` random bytes as its body. */
function ask(method, path, headers, bytes = 0) {
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', method, path, headers }, answer => {
      answer.resume();
      if (answer.statusCode < 300) resolve(answer);
      else reject(new Error(`${method} ${path}: ${answer.statusCode}`));
    });
    asked.on('error', reject);
    let left = bytes;
    const more = () => {
      while (left > 0) {
        left -= PIECE.length;
        if (!asked.write(PIECE)) return asked.once('drain', more);
      }
      asked.end();
    };
    more();
  });
}

async function resident() {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)[1]) * 1024;
}

function freePort() {
  return new Promise(resolve => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(2);
}
