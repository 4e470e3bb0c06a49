// The interface's entrance: mounts it on the loader's stage.

import type { App, Stage } from '@kith/loader/stage';
import { h, render } from 'preact';

export default function mount(stage: Stage): App {
  const place = document.createElement('div');
  stage.root.append(place);
  const draw = (open: boolean) => {
    render(open ? h('p', {}, stage.settings.site) : null, place);
    stage.setOpen(open);
  };
  return {
    show: () => draw(true),
    hide: () => draw(false),
    open: () => draw(true),
    destroy: () => render(null, place),
  };
}
