import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // A test that waits for nothing is slow only where the machine is.
    testTimeout: 30_000,
    include: ['{client,loader,app}/**/*.test.{ts,tsx}'],
    exclude: ['**/node_modules/**', '**/*.browser.test.ts'],
  },
});
