// Modules that pages with only the button need: notifications, and the unread number in the page's title and icon.

export { createPageBadge } from './page_badge.ts';
export * from './push/push.ts';
