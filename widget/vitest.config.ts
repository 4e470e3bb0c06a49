import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{client,loader,app}/**/*.test.{ts,tsx}'],
    exclude: ['**/node_modules/**', '**/*.browser.test.ts'],
  },
});
