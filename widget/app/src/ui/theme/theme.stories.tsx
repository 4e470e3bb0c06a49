import type { Stories } from '../../../dev/story.ts';

export const stories: Stories = {
  buttons: () => (
    <>
      <button type="button" class="button">
        Button
      </button>
      <button type="button" class="button button-main">
        Main
      </button>
      <button type="button" class="button button-plain">
        Plain
      </button>
    </>
  ),
  badges: () => (
    <>
      <span class="badge">3</span>
      <span class="badge badge-mention">@</span>
      <span class="badge badge-quiet">12</span>
    </>
  ),
};
