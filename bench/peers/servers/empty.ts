/**
 * Nothing: what `deno run` costs by itself.
 *
 * @module
 */
