import { defineConfig } from 'vitest/config';
import { messages } from './scripts/messages/vite_plugin.mjs';

export default defineConfig({
  plugins: [messages()],
  test: {
    // A test that waits for nothing is slow only where the machine is.
    testTimeout: 30_000,
    include: ['{client,loader,app}/**/*.test.{ts,tsx}', 'scripts/**/*.test.mjs'],
    exclude: ['**/node_modules/**', '**/*.browser.test.ts'],
  },
});
