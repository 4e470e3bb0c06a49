// The writing direction of an element.

export function isRtl(element: HTMLElement): boolean {
  return getComputedStyle(element).direction === 'rtl';
}
