// Shows a dot on the page's own icon while a message is unread.

export interface IconDot {
  set(on: boolean): void;
}

const SIZE = 64;
const DOT = { x: 46, y: 46, radius: 16, rim: 4 };

/**
 * Appends an icon link to the page, and changes the `rel` of the page's own icon links while it is there. An icon that
 * the page sets in the meantime overrides the dot.
 */
export function createIconDot(page: Document): IconDot {
  let wanted = false;
  let given: { ours: HTMLLinkElement; theirs: { link: HTMLLinkElement; rel: string }[] } | undefined;
  /** Drawing failed because of the icon's origin or a policy of the page. It is not tried again. */
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

/** Rejects if there is no icon, or if the icon's origin does not allow its use (CORS). */
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
  // Cut a transparent ring around the dot, so that it is visible on an icon of the same colour.
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
