// The script at /kith.js.

declare const KITH_APP: string;

void import(/* @vite-ignore */ new URL(KITH_APP, (document.currentScript as HTMLScriptElement).src).href);
