// Vite plugin: provides the compiled texts as modules. messages.d.ts declares their exports.

import { join } from 'node:path';
import { BASE, ELSEWHERE, FOLDER, RARE, readCatalogues, SHELL } from './catalogue.mjs';
import { compile, PLURAL } from './compile.mjs';

const PREFIX = 'virtual:messages';

export function messages() {
  let catalogues = readCatalogues();
  return {
    name: 'messages',
    watchChange() {
      catalogues = readCatalogues();
    },
    resolveId: id => (id === PREFIX || id.startsWith(`${PREFIX}/`) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${PREFIX}`)) return;
      const [, name] = id.split('/');
      if (name === undefined) return languages(catalogues);
      if (name === 'plural') return PLURAL;
      if (name === 'loader') return loader(catalogues);
      const [language, part] = name.split('_');
      for (const one of [BASE, language]) this.addWatchFile(join(FOLDER, `${one}.json`));
      if (part === 'rare') return rareTexts(catalogues, language);
      return part ? lateTexts(catalogues, language) : shell(catalogues, language);
    },
  };
}

function languages(catalogues) {
  const fetches = Array.from(catalogues.keys(), one => `${one}: () => import('${PREFIX}/${one}')`);
  return `export const LANGUAGES = { ${fetches.join(', ')} };`;
}

function shell(catalogues, language) {
  return `export const shell = plural => ${compile(catalogues, language, [SHELL])};
export const late = () => import('${PREFIX}/${language}_late');`;
}

function lateTexts(catalogues, language) {
  const namespaces = new Set(Array.from(catalogues.get(BASE).keys(), path => path.split('.', 1)[0]));
  const others = [SHELL, ...RARE, ...ELSEWHERE];
  const late = Array.from(namespaces).filter(one => !others.includes(one));
  return `export const late = plural => ${compile(catalogues, language, late)};
export const rare = () => import('${PREFIX}/${language}_rare');`;
}

function rareTexts(catalogues, language) {
  const texts = RARE.map(one => `${one}: ${compile(catalogues, language, [one])}`);
  return `export const rare = plural => ({ ${texts.join(', ')} });`;
}

function loader(catalogues) {
  const all = Array.from(
    catalogues.keys(),
    one => `${one}: plural => ${compile(catalogues, one, ['loader'])}`,
  );
  return `export const LANGUAGES = { ${all.join(', ')} };`;
}
