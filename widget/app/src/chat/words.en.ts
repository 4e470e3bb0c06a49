/** English. */

export const en = () => ({
  showPinned: 'Show the pinned message',
  pinnedOf: (n: number, count: number) =>
    count === 1 ? 'Pinned message' : `Pinned message ${n} of ${count}`,
});

export type PinWords = ReturnType<typeof en>;
