/**
 * Every fuzzed property.
 *
 * @module
 */

import type { Property } from "./_property.ts";
import { clientProperties } from "./_client.ts";
import { dispatchProperties } from "./_dispatch.ts";
import { framingProperties } from "./_framing.ts";
import { toolProperties } from "./_tools.ts";

/** All of them, in the order of the floors. */
export const PROPERTIES: readonly Property[] = [
  ...framingProperties,
  ...dispatchProperties,
  ...toolProperties,
  ...clientProperties,
];
