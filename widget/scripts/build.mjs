// Builds dist/kith.js and dist/kith/*-[hash].js with .gz and .br beside them, and fails above the size budgets.

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { budget } from './budget.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');

/** We preload nothing, and so need none of the code that does. */
const withoutPreload = {
  name: 'without-preload',
  enforce: 'pre',
  load: id =>
    id.includes('vite/preload-helper') ? 'export const __vitePreload = load => load();' : undefined,
};

/** The imports of each entry at its start, for one chunk instead of one for each set of late parts that use it, too. */
const atStart = { client: new Set(), app: new Set(), push: new Set() };
const entries = {
  client: join(root, 'loader/src/client_entry.ts'),
  app: join(root, 'app/src/main.ts'),
  push: join(root, 'loader/src/push/push.ts'),
};
const whatIsAtStart = {
  name: 'what-is-at-start',
  buildEnd() {
    for (const [name, entry] of Object.entries(entries)) {
      atStart[name].add(entry);
      for (const id of atStart[name]) {
        for (const imported of this.getModuleInfo(id)?.importedIds ?? []) atStart[name].add(imported);
      }
    }
  },
};

const shared = {
  root,
  configFile: false,
  logLevel: 'warn',
  plugins: [withoutPreload],
  define: { 'process.env.NODE_ENV': '"production"' },
  oxc: {
    jsx: { runtime: 'automatic', importSource: 'preact' },
    // Parameters of a constructor need no other declaration.
    assumptions: { setPublicClassFields: true },
    typescript: { removeClassFieldsWithoutInitializer: true },
  },
};

await rm(dist, { recursive: true, force: true });
const modules = await buildModules();
await buildLoader(modules);
await buildWorker();
await compress();
await writeFile(join(dist, 'manifest.json'), `${JSON.stringify(modules, null, 2)}\n`);
await budget(dist, modules);

/** The client and the app as ES modules; what both need becomes a chunk of its own. */
async function buildModules() {
  const result = await build({
    ...shared,
    base: './',
    build: {
      outDir: dist,
      emptyOutDir: false,
      target: 'es2022',
      modulePreload: false,
      cssCodeSplit: false,
      reportCompressedSize: false,
      rollupOptions: {
        input: entries,
        plugins: [whatIsAtStart],
        preserveEntrySignatures: 'allow-extension',
        output: {
          format: 'es',
          codeSplitting: {
            groups: [
              { name: 'client', test: id => atStart.client.has(id) },
              { name: 'interface', test: id => atStart.app.has(id) && !atStart.client.has(id) },
            ],
          },
          // Each hash stands in the shell too, and cannot be compressed; 42 bits tell two builds apart.
          entryFileNames: 'kith/[name]-[hash:7].js',
          chunkFileNames: 'kith/[name]-[hash:7].js',
          assetFileNames: 'kith/[name]-[hash][extname]',
        },
      },
    },
  });
  const output = [result].flat().flatMap(one => one.output);
  const chunks = output.filter(one => one.type === 'chunk');
  const entry = name => chunks.find(one => one.isEntry && one.name === name)?.fileName;
  const shell = atOnce(chunks.filter(one => one.isEntry && one.name !== 'push'));
  const calls = chunks.filter(one => one.facadeModuleId?.match(/\/calls\/call_(root|check)\.tsx$/));
  return {
    client: entry('client'),
    app: entry('app'),
    push: entry('push'),
    /** Everything that must have arrived before one can chat: the entries and what they import at once. */
    shell: [...shell, largest(/wording\/(translated\/)?[a-z]{2}\.ts$/)],
    /** The call and the check before it, and what only they bring. */
    call: [...atOnce(calls), largest(/\/calls\/words\./)].filter(name => !shell.has(name)),
  };

  /** These chunks and all that they import before they run. */
  function atOnce(entries) {
    const names = new Set(entries.map(one => one.fileName));
    for (const name of names)
      for (const imported of chunks.find(one => one.fileName === name)?.imports ?? []) names.add(imported);
    return names;
  }

  /** Of the languages one is fetched. */
  function largest(path) {
    const languages = chunks.filter(one => one.isDynamicEntry && path.test(one.facadeModuleId));
    const size = new Map(languages.map(one => [one, gzipSync(one.code).length]));
    return languages.sort((a, b) => size.get(b) - size.get(a))[0].fileName;
  }
}

/** The classic script, with the addresses of the modules in it. */
async function buildLoader({ client, app, push }) {
  await build({
    ...shared,
    define: {
      ...shared.define,
      KITH_CLIENT: JSON.stringify(client),
      KITH_APP: JSON.stringify(app),
      KITH_PUSH: JSON.stringify(push),
    },
    build: {
      outDir: dist,
      emptyOutDir: false,
      target: 'es2020',
      reportCompressedSize: false,
      rollupOptions: {
        input: join(root, 'loader/src/loader.ts'),
        output: { format: 'iife', entryFileNames: 'kith.js' },
      },
    },
  });
}

/** The file that a site's service worker imports: one file, under a stable name. */
async function buildWorker() {
  await build({
    ...shared,
    build: {
      outDir: dist,
      emptyOutDir: false,
      target: 'es2020',
      reportCompressedSize: false,
      rollupOptions: {
        input: join(root, 'loader/src/push/service_worker.ts'),
        output: { format: 'iife', entryFileNames: 'kith-sw.js' },
      },
    },
  });
}

/**
 * A browser remembers a module that it could not fetch for as long as the page lives, under its whole address: another
 * fragment is another try. So a part that was wanted while the server was away comes when it is wanted again.
 */
function tryingAgain(code) {
  const again = 'const __again=u=>import(u).catch(()=>import(u+"#"+Date.now()));';
  const calling = code.replace(/\bimport\(([`'"]\.\/[\w-]+\.js[`'"])\)/g, '__again($1)');
  return calling === code ? code : again + calling;
}

/**
 * The bundler's runtime lists the exports of a module with `for in`, which meets what a page has added to `Object.prototype`; the
 * module then fails.
 */
function ownNamesOnly(name, code) {
  if (!name.includes('/rolldown-runtime-')) return code;
  const own = code.replace(/for\(var (\w+) in (\w+)\)/, 'for(var $1 of Object.keys($2))');
  if (own === code)
    throw new Error(`${name}: the runtime of the bundler is another one; look how it lists exports`);
  return own;
}

async function compress() {
  await mkdir(join(dist, 'kith'), { recursive: true });
  const files = ['kith.js', 'kith-sw.js', ...(await readdir(join(dist, 'kith'))).map(name => `kith/${name}`)];
  for (const name of files) {
    const bytes = Buffer.from(tryingAgain(ownNamesOnly(name, await readFile(join(dist, name), 'utf8'))));
    await writeFile(join(dist, name), bytes);
    await writeFile(join(dist, `${name}.gz`), await promisify(gzip)(bytes, { level: 9 }));
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
    await writeFile(join(dist, `${name}.br`), await promisify(brotliCompress)(bytes, quality));
  }
}
