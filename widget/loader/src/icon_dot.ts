// A dot on the page's own icon while something is unread, whatever icons the page has.

export interface IconDot {
  set(on: boolean): void;
}

const SIZE = 64;
const DOT = { x: 46, y: 46, radius: 16, rim: 4 };

/**
 * The page's links keep their place and lose their `rel` for as long as ours stands at the end. What the page puts there
 * meanwhile wins, as any icon of the page does, until the number changes again.
 */
export function createIconDot(page: Document): IconDot {
  let wanted = false;
  let given: { ours: HTMLLinkElement; theirs: { link: HTMLLinkElement; rel: string }[] } | undefined;
  /** An icon of another origin, or a policy: what failed once is not tried again. */
  let refused = false;

  const giveBack = () => {
    for (const { link, rel } of given?.theirs ?? []) link.rel = rel;
    given?.ours.remove();
    given = undefined;
    page.removeEventListener('securitypolicyviolation', onViolation);
  };
  const put = (href: string) => {
    const theirs = iconsOf(page).map(link => ({ link, rel: link.rel }));
    for (const { link } of theirs) link.rel = 'kith-was-icon';
    const ours = page.createElement('link');
    ours.rel = 'icon';
    ours.href = href;
    page.head.append(ours);
    given = { ours, theirs };
    page.addEventListener('securitypolicyviolation', onViolation);
  };
  const onViolation = ({ effectiveDirective, blockedURI }: SecurityPolicyViolationEvent) => {
    if (effectiveDirective !== 'img-src' || !blockedURI.startsWith('data')) return;
    refused = true;
    giveBack();
  };

  return {
    set(on) {
      if (on === wanted) return;
      wanted = on;
      if (!on) return giveBack();
      if (refused) return;
      draw(page, iconsOf(page).at(-1)?.href ?? new URL('/favicon.ico', page.location.href).href).then(
        href => {
          if (wanted && given === undefined) put(href);
        },
        () => {
          refused = true;
        },
      );
    },
  };
}

function iconsOf(page: Document): HTMLLinkElement[] {
  return Array.from(page.querySelectorAll<HTMLLinkElement>('link[rel~="icon" i]'));
}

/** Rejects where there is no icon, or one of an origin that does not lend it. */
async function draw(page: Document, icon: string): Promise<string> {
  const image = new Image(SIZE, SIZE);
  image.crossOrigin = 'anonymous';
  image.src = icon;
  await image.decode();
  const canvas = page.createElement('canvas');
  canvas.width = SIZE;
  canvas.height = SIZE;
  const brush = canvas.getContext('2d');
  if (brush === null) throw new Error('no canvas');
  brush.drawImage(image, 0, 0, SIZE, SIZE);
  // Cut out around the dot, so that it is seen on an icon of its own colour.
  brush.globalCompositeOperation = 'destination-out';
  circle(brush, DOT.radius + DOT.rim);
  brush.globalCompositeOperation = 'source-over';
  brush.fillStyle = '#d3302f';
  circle(brush, DOT.radius);
  return canvas.toDataURL();
}

function circle(brush: CanvasRenderingContext2D, radius: number): void {
  brush.beginPath();
  brush.arc(DOT.x, DOT.y, radius, 0, 2 * Math.PI);
  brush.fill();
}
