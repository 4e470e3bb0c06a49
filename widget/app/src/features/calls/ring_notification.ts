// A browser notification for a call that rings on a hidden page, if the user has allowed notifications.

/** Returns a function that closes the notification. */
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
    // Mobile browsers allow this only from a service worker.
    return () => undefined;
  }
}
