// A small disk of its own for a home, which a fault can fill. Needs root on Linux.

import { execFile, execFileSync } from 'node:child_process';
import { cp, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const SIZE_MIB = 96;
const CHUNK = Buffer.alloc(65_536, 1);

const mounted = new Set();
process.on('exit', () => {
  for (const dir of mounted) execFileSync('umount', ['--lazy', dir]);
});

export class Disk {
  static async mount(dir) {
    await mkdir(dir);
    await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MIB}m,mode=0700`, 'tmpfs', dir]);
    mounted.add(dir);
    return new Disk(dir);
  }

  constructor(dir) {
    this.dir = dir;
    this.filler = join(dir, 'filler');
  }

  /** Writes until no byte is free. */
  async fill() {
    const file = await open(this.filler, 'w');
    for (;;) {
      const written = await file.write(CHUNK).catch(({ code }) => {
        if (code !== 'ENOSPC') throw new Error(`cannot fill ${this.dir}: ${code}`);
      });
      if (!written) break;
    }
    await file.close();
  }

  async free() {
    await rm(this.filler, { force: true });
  }

  /** `keep`: copies its files to this directory. */
  async unmount(keep) {
    if (keep) await cp(this.dir, keep, { recursive: true, filter: path => !path.endsWith('.sock') });
    await run('umount', ['--lazy', this.dir]);
    mounted.delete(this.dir);
  }
}
