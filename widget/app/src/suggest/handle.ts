// What the field knows of suggestions before there are some.

export interface SuggestHandle {
  /** True where the key was meant for the list. */
  onKey(event: KeyboardEvent): boolean;
}

export const SUGGESTIONS_ID = 'suggestions';

/** There may be something in it that can be completed; `triggerAt` says whether there is. */
export const MAY_COMPLETE = /(^|[\s(])[:@]/;
