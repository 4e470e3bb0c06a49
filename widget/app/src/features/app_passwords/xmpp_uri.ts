/** The address as a URI, which an app or a camera opens (RFC 5122 §2.2). It has ASCII characters only. */
export function xmppUri(address: string): string {
  const at = address.lastIndexOf('@');
  return `xmpp:${encodeURIComponent(address.slice(0, at))}${address.slice(at)}`;
}
