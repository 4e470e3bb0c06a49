// Renders the tree of a message's text. It creates only the elements in this file, and takes no attribute names
// from the text.

import { type ComponentChildren, h } from 'preact';
import { useMemo } from 'preact/hooks';
import { useClient } from '../../app_context.tsx';
import { useStyles } from '../../ui/styles/use_styles.ts';
import css from './formatted.css?inline';
import { type Block, blocksOf, type Inline, textOf } from './formatting.ts';
import type { BodyProps } from './message_text.tsx';

export function Formatted({ body, inert, nameOf }: BodyProps) {
  useStyles(css);
  const me = useClient().me()?.user;
  const blocks = useMemo(() => blocksOf(body, nameOf), [body, nameOf]);
  return <>{blocks.map((block, i) => drawnBlock(block, i, { inert, me }))}</>;
}

interface Around {
  inert: boolean;
  me: string | undefined;
}

const MARKS = { bold: 'strong', italic: 'em', strike: 's' } as const;

function drawnBlock(block: Block, key: number, around: Around): ComponentChildren {
  switch (block.kind) {
    case 'lines':
      return <span key={key}>{drawn(block.inside, around)}</span>;
    case 'code_block':
      return (
        <pre key={key} dir="ltr">
          <code>{block.text}</code>
        </pre>
      );
    case 'quote':
      return <blockquote key={key}>{drawn(block.inside, around)}</blockquote>;
    case 'list': {
      const items = block.items.map((item, i) => <li key={i}>{drawn(item, around)}</li>);
      return block.start === undefined ? (
        <ul key={key}>{items}</ul>
      ) : (
        <ol key={key} start={block.start}>
          {items}
        </ol>
      );
    }
  }
}

function drawn(inside: readonly Inline[], around: Around): ComponentChildren[] {
  return inside.map((one, key) => {
    switch (one.kind) {
      case 'text':
        return one.text;
      case 'code':
        return <code key={key}>{one.text}</code>;
      case 'mention':
        return (
          <bdi key={key} class={one.user === around.me ? 'mention mention-me' : 'mention'}>
            {one.text}
          </bdi>
        );
      case 'link':
        if (around.inert) return drawn(one.inside, around);
        return (
          <a
            key={key}
            href={one.href}
            title={textOf(one.inside) === one.href ? undefined : one.href}
            target="_blank"
            rel="noopener noreferrer nofollow ugc"
          >
            {drawn(one.inside, around)}
          </a>
        );
      default:
        return h(MARKS[one.kind], { key }, drawn(one.inside, around));
    }
  });
}
