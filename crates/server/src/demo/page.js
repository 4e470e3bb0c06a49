// The demo forum's own script: second windows, and "Message" buttons that open the messenger.

document.addEventListener('click', event => {
  const target = event.target instanceof Element ? event.target.closest('[data-window], [data-kith-open]') : null;
  if (!target) return;
  if (target.dataset.kithOpen !== undefined) {
    const open = () => window.Kith?.open(target.dataset.kithOpen);
    // The tag is async: whoever is faster than it is waited for.
    if (window.Kith) open();
    else document.querySelector('script[data-site]')?.addEventListener('load', open, { once: true });
    return;
  }
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
  const size = 'popup,width=' + Math.min(1100, screen.availWidth) + ',height=' + Math.min(820, screen.availHeight);
  if (window.open(target.href, target.target, size)) event.preventDefault();
});
