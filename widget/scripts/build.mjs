// Builds dist/kith.js and dist/kith/*-[hash].js, with .gz and .br files. Fails above the size budgets.

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { budget } from './budget.mjs';
import { bundleOf, circle } from './bundles.mjs';
import { readCatalogues } from './messages/catalogue.mjs';
import { missing } from './messages/compile.mjs';
import { messages } from './messages/vite_plugin.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');

/** Removes Vite's preloads: Vite would wrap each dynamic import in a call with a list of files to preload. */
const withoutPreload = {
  name: 'without-preload',
  configResolved({ plugins }) {
    const at = plugins.findIndex(one => one.name === 'native:import-analysis-build');
    if (at === -1) throw new Error('Vite has renamed the plugin that inserts preloads');
    plugins.splice(at, 1);
  },
};

const entries = {
  client: join(root, 'loader/src/client_entry.ts'),
  app: join(root, 'app/src/main.ts'),
  background: join(root, 'loader/src/background.ts'),
};
/** The modules that the client and the interface import at their start. */
const atStart = { client: new Set([entries.client]), app: new Set([entries.app]) };
const whatIsAtStart = {
  name: 'what-is-at-start',
  buildEnd() {
    for (const ids of Object.values(atStart)) {
      for (const id of ids) {
        for (const imported of this.getModuleInfo(id)?.importedIds ?? []) ids.add(imported);
      }
    }
  },
};

const shared = {
  root,
  configFile: false,
  logLevel: 'warn',
  plugins: [withoutPreload, messages()],
  define: { 'process.env.NODE_ENV': '"production"' },
  oxc: {
    jsx: { runtime: 'automatic', importSource: 'preact' },
    // Parameter properties of a constructor need no separate field.
    assumptions: { setPublicClassFields: true },
    typescript: { removeClassFieldsWithoutInitializer: true },
  },
};

/** Each language has three bundles: the texts of the shell, of the lazy parts, and of the parts that few members open. */
const TEXTS = /virtual:messages\/([a-z]+(?:_late|_rare)?)$/;

await rm(dist, { recursive: true, force: true });
const modules = await buildModules();
await buildLoader(modules);
await buildWorker();
await compress();
await writeFile(join(dist, 'manifest.json'), `${JSON.stringify(modules, null, 2)}\n`);
await budget(dist, modules);
reportMissing(readCatalogues());

/** Reports texts that the build contains in English, because a language does not have them. */
function reportMissing(catalogues) {
  for (const language of catalogues.keys()) {
    const count = missing(catalogues, language).length;
    if (count > 0) console.log(`${language}: ${count} texts are not translated`);
  }
}

/** The bundle of a module. Modules that load at the start are in `client` or `app`. */
function bundle(id) {
  if (atStart.client.has(id)) return 'client';
  if (atStart.app.has(id)) return 'app';
  const texts = TEXTS.exec(id)?.[1];
  if (texts) return texts;
  // Modules of the bundler itself have names that begin with a null character.
  if (id.startsWith('\0')) return 'client';
  const name = bundleOf(relative(root, id));
  if (name === undefined) throw new Error(`${id} is in no bundle: name one in scripts/bundles.mjs`);
  return name;
}

/** The client and the app as ES modules, in the bundles of bundles.mjs. */
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
            includeDependenciesRecursively: false,
            groups: [{ debugName: 'bundles', name: bundle }],
          },
          // The shell contains each hash, and hashes cannot be compressed. 42 bits are enough to distinguish builds.
          entryFileNames: 'kith/[name]-[hash:7].js',
          chunkFileNames: 'kith/[name]-[hash:7].js',
          assetFileNames: 'kith/[name]-[hash][extname]',
        },
      },
    },
  });
  const output = [result].flat().flatMap(one => one.output);
  const chunks = output.filter(one => one.type === 'chunk');
  const named = name => chunks.find(one => one.name === name);
  const found = circle(chunks);
  if (found) throw new Error(`bundles import each other in a circle: ${found.join(' → ')}`);
  const shell = atOnce('client', 'app');
  const language = largest(/virtual:messages\/[a-z]+$/);
  const late = largest(/virtual:messages\/[a-z]+_late$/);
  return {
    client: named('client').fileName,
    app: named('app').fileName,
    background: named('background').fileName,
    /** The files that the interface needs to start: the entries, their static imports, and one language. */
    shell: [...shell, language],
    /** The other files that the first chat fetches. */
    chat: [...atOnce('chat')].filter(name => !shell.has(name)),
    /** The other files that the first call fetches: the call, the check before it, and their texts. */
    call: [...atOnce('calls'), late].filter(name => !shell.has(name)),
  };

  /** The files of these bundles and of their static imports. */
  function atOnce(...bundles) {
    const names = new Set(bundles.map(one => named(one).fileName));
    for (const name of names)
      for (const imported of chunks.find(one => one.fileName === name)?.imports ?? []) names.add(imported);
    return names;
  }

  /** The largest file of all languages, because a page fetches one language. */
  function largest(texts) {
    const size = new Map(
      chunks
        .filter(one => one.moduleIds.some(id => texts.test(id)) && !shell.has(one.fileName))
        .map(one => [one, gzipSync(one.code).length]),
    );
    return [...size.keys()].sort((a, b) => size.get(b) - size.get(a))[0].fileName;
  }
}

/** Builds the classic script, which contains the addresses of the modules. */
async function buildLoader({ client, app, background }) {
  await build({
    ...shared,
    define: {
      ...shared.define,
      KITH_CLIENT: JSON.stringify(client),
      KITH_APP: JSON.stringify(app),
      KITH_BACKGROUND: JSON.stringify(background),
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

/** Builds the file that a site's service worker imports: one file with a stable name. */
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
 * A browser remembers a failed fetch of a module by its whole address until the page is unloaded, so a retry needs
 * another fragment. With it, a part that was requested while the server was down can be fetched later.
 */
function tryingAgain(code) {
  const again = 'const __again=u=>import(u).catch(()=>import(u+"#"+Date.now()));';
  const calling = code.replace(/\bimport\(([`'"]\.\/[\w-]+\.js[`'"])\)/g, '__again($1)');
  return calling === code ? code : again + calling;
}

/**
 * The bundler's runtime lists the exports of a module with `for in`, which also visits properties that a page has added
 * to `Object.prototype`. The module would then fail.
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
