// A page on another origin than the server, like a customer's site: with a strict policy and an address for tokens.

import { createServer } from 'node:http';

const REGISTERS = `
  const owner = trustedTypes.createPolicy('owner', { createScriptURL: path => path });
  navigator.serviceWorker?.register(owner.createScriptURL('/kith-sw.js'), { scope: '/kith/' });
`;

/** `?as=ana` sets the signed-in user, `?site=key` another site, `?lang=ar` another language. */
export async function hostPage(
  kith,
  defaultSite,
  {
    head = '',
    body = '',
    style = '',
    script = '',
    tag = '',
    images = "'self'",
    permissions = '',
    worker = false,
  } = {},
) {
  const nonce = 'bm9uY2Utb2YtdGhlLWhvc3Q';
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'`,
    "style-src 'self'",
    `connect-src 'self' ${kith.url} ${kith.url.replace('http', 'ws')}`,
    `img-src ${images}`,
    "require-trusted-types-for 'script'",
    // Trusted Types forbid to register a worker from a string. The owner's script may do it with its own policy.
    ...(worker ? ["worker-src 'self'", 'trusted-types owner'] : ["trusted-types 'none'"]),
  ].join('; ');
  const workerPolicy = `default-src 'none'; script-src 'self' ${kith.url}`;
  const answer = {
    async '/token'(user, site) {
      const token = await kith.command(
        'token',
        '--site',
        site,
        '--user',
        user,
        '--name',
        `${user} of the host`,
      );
      return ['application/json', JSON.stringify({ token })];
    },
    '/icon.svg': () => [
      'image/svg+xml',
      '<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32"><path fill="teal" d="M0 0h32v32H0z"/></svg>',
    ],
    '/style.css': () => ['text/css', style],
    '/script.js': () => ['text/javascript', worker ? REGISTERS + script : script],
    // The service worker of docs/embed.md.
    ...(worker && {
      '/kith-sw.js': () => ['text/javascript', `importScripts('${kith.url}/kith-sw.js');\n`],
    }),
    '/': (user, site, lang) => [
      'text/html; charset=utf-8',
      `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><title>A host</title>${head}
      <link rel="stylesheet" href="${origin}/style.css">
      <script src="${origin}/script.js" nonce="${nonce}"></script>
      <script async src="${kith.url}/kith.js" data-site="${site}" ${tag}
        data-token-url="${origin}/token?as=${user}&amp;site=${site}" nonce="${nonce}"></script>
      </head><body>${body}</body></html>`,
    ],
  };
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://host');
    const [type, content] =
      (await answer[pathname]?.(
        searchParams.get('as') ?? 'visitor',
        searchParams.get('site') ?? defaultSite,
        searchParams.get('lang') ?? 'en',
      )) ?? [];
    response.writeHead(content === undefined ? 204 : 200, {
      'content-type': type ?? 'text/plain',
      'content-security-policy': pathname === '/kith-sw.js' ? workerPolicy : policy,
      ...(permissions && { 'permissions-policy': permissions }),
    });
    response.end(content);
  });
  await new Promise(resolve => server.listen(0, 'localhost', resolve));
  const origin = `http://localhost:${server.address().port}`;
  return {
    origin,
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
