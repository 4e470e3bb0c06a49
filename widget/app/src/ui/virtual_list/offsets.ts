// Computes the positions of rows with known heights, and the rows in a viewport.

/** Prefix sums of heights: row `i` extends from `starts[i]` to `starts[i + 1]`. */
export class Offsets {
  private readonly starts: Float64Array;

  constructor(count: number, heightOf: (index: number) => number) {
    this.starts = new Float64Array(count + 1);
    for (let i = 0; i < count; i++) this.starts[i + 1] = this.start(i) + heightOf(i);
  }

  get count(): number {
    return this.starts.length - 1;
  }

  get total(): number {
    return this.start(this.count);
  }

  start(index: number): number {
    return this.starts[index] ?? 0;
  }

  /** The row at position `y`; the nearest row if `y` is outside of the list. */
  rowAt(y: number): number {
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.start(middle) <= y) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  /** The rows in a viewport: the first one, and the index after the last one. */
  visible(scrollTop: number, height: number): { first: number; end: number } {
    if (this.count === 0 || height <= 0) return { first: 0, end: 0 };
    return { first: this.rowAt(scrollTop), end: this.rowAt(scrollTop + height - 1) + 1 };
  }

  /** The scroll position that shows a row with the smallest movement. */
  reveal(index: number, scrollTop: number, height: number): number {
    const top = this.start(index);
    const bottom = this.start(index + 1);
    if (top < scrollTop) return top;
    return bottom > scrollTop + height ? bottom - height : scrollTop;
  }
}
