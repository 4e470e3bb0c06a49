// The wall clock of a node, which a fault can set. Needs Linux and a C compiler.

import { execFile } from 'node:child_process';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const source = fileURLToPath(new URL('clock.c', import.meta.url));

/** Compiles the library that processes with a clock of their own load. Returns its path. */
export async function clockLibrary(dir) {
  const library = join(dir, 'clock.so');
  await run(process.env.CC ?? 'cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl']);
  return library;
}

export class Clock {
  /** `file`: where the offset is. */
  constructor(library, file) {
    this.file = file;
    /** The variables of a process with this clock. */
    this.env = { LD_PRELOAD: library, FAULTS_CLOCK: file };
    writeFileSync(file, Buffer.alloc(8));
  }

  /** Sets the clock to the right time and `ms` more. Processes see it at once. */
  jump(ms) {
    const offset = Buffer.alloc(8);
    offset.writeBigInt64LE(BigInt(ms) * 1_000_000n);
    const file = openSync(this.file, 'r+');
    writeSync(file, offset, 0, offset.length, 0);
    closeSync(file);
  }
}
