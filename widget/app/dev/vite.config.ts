import { defineConfig } from 'vite';
import { messages } from '../../scripts/messages/vite_plugin.mjs';

export default defineConfig({
  plugins: [messages()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
});
