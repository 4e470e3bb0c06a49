// A call that rings while nobody looks at the page: said by the browser, where the member has let it.

/** The returned function takes it away. */
export function ringOutside(title: string, body: string): () => void {
  if (!document.hidden || typeof Notification === 'undefined' || Notification.permission !== 'granted')
    return () => undefined;
  try {
    const shown = new Notification(title, { body, tag: 'kith-call', requireInteraction: true });
    shown.onclick = () => {
      window.focus();
      shown.close();
    };
    return () => shown.close();
  } catch {
    // Browsers on phones let only a service worker do this.
    return () => undefined;
  }
}
