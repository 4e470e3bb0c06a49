// The direction in which an element is written.

export function isRtl(element: HTMLElement): boolean {
  return getComputedStyle(element).direction === 'rtl';
}
