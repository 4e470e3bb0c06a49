// The scale of a zoomed picture, and the part that is visible.

export interface Zoom {
  /** 1: the whole picture fits its place. */
  scale: number;
  /** Distance in pixels from the middle of the place to the middle of the picture. */
  x: number;
  y: number;
}

export interface Point {
  x: number;
  y: number;
}

export const WHOLE: Zoom = { scale: 1, x: 0, y: 0 };
const MOST = 8;

/** Scales by `factor`. The point `at`, relative to the middle of the place, does not move. */
export function zoomed(zoom: Zoom, factor: number, at: Point = { x: 0, y: 0 }): Zoom {
  const scale = Math.min(MOST, Math.max(1, zoom.scale * factor));
  const by = scale / zoom.scale;
  return { scale, x: at.x - (at.x - zoom.x) * by, y: at.y - (at.y - zoom.y) * by };
}

export function moved(zoom: Zoom, by: Point): Zoom {
  return { ...zoom, x: zoom.x + by.x, y: zoom.y + by.y };
}

/** Limits the position to the edges. `picture` is its size at scale 1, `place` is the size of its place. */
export function inside(zoom: Zoom, picture: Point, place: Point): Zoom {
  const limit = (of: 'x' | 'y') => {
    const most = Math.max(0, (picture[of] * zoom.scale - place[of]) / 2);
    return Math.min(most, Math.max(-most, zoom[of]));
  };
  return { scale: zoom.scale, x: limit('x'), y: limit('y') };
}
