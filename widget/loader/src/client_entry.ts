// The module that the loader fetches first: the client with a browser around it.

export * from '@kith/client';
