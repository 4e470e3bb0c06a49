// The interface on a fake client (`widget/app/dev`), built once and served under a strict policy.

import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const require = createRequire(new URL('../../widget/package.json', import.meta.url));
const { build } = await import(pathToFileURL(require.resolve('vite')).href);

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css' };
export const POLICY = "default-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";

export async function fixture() {
  const root = fileURLToPath(new URL('../../widget/app/dev', import.meta.url));
  const { output } = await build({
    root,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      modulePreload: false,
      minify: false,
      rollupOptions: { input: [`${root}/index.html`, `${root}/stories.html`] },
    },
  });
  const files = new Map(output.map(one => [`/${one.fileName}`, one.code ?? one.source]));
  files.set('/', files.get('/index.html'));
  const server = createServer((request, response) => {
    const path = new URL(request.url, 'http://fixture').pathname;
    const content = files.get(path);
    const type = TYPES[extname(path === '/' ? '/index.html' : path)] ?? 'text/plain';
    response.writeHead(content === undefined ? 204 : 200, {
      'content-type': type,
      'content-security-policy': POLICY,
      // The names of these files contain a hash of their content.
      ...(path.startsWith('/assets/') && { 'cache-control': 'max-age=3600' }),
    });
    response.end(content);
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  return {
    url: settings => `http://127.0.0.1:${port}/?${new URLSearchParams(settings)}`,
    stories: settings => `http://127.0.0.1:${port}/stories.html?${new URLSearchParams(settings)}`,
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
