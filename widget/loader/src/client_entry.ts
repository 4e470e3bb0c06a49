// The module that the loader fetches first: the client.

export * from '@kith/client';
