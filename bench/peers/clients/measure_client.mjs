// deno-lint-ignore-file explicit-function-return-type -- node 20 runs this: no types
/**
 * Measures one client, from inside its own process: the same for all of them.
 *
 * @module
 */

/** What every call asks for. */
export const ARGUMENTS = { verb: "eat", tense: "past_simple", person: "3sg" };

/**
 * Time the first calls one after the other, as many later ones, queued ones.
 *
 * @param {() => Promise<unknown>} call Makes one call.
 * @param {number} count How many are timed, at first and later.
 * @param {number} warmup How many are made in between.
 * @returns {Promise<string>} The numbers, as JSON: calls a second, and microseconds.
 */
export async function measureClient(call, count, warmup) {
  const cold = await timeCalls(call, count);
  for (let at = 0; at < warmup; at++) await call();
  const warm = await timeCalls(call, count);
  return JSON.stringify({
    clientRate: cold.rate,
    clientP50: cold.p50,
    clientWarmRate: warm.rate,
    clientWarmP50: warm.p50,
    ...await timeQueued(call),
  });
}

async function timeCalls(call, count) {
  const times = new Float64Array(count);
  const begun = performance.now();
  for (let at = 0; at < count; at++) {
    const before = performance.now();
    await call();
    times[at] = performance.now() - before;
  }
  const rate = 1000 * count / (performance.now() - begun);
  return { rate, p50: 1000 * times.sort()[count >> 1] };
}

/**
 * Times as many calls, queued by 10 and by 1,000 in turns: the first rounds
 * also pay for a larger heap and for code compiled anew, the medians do not.
 */
async function timeQueued(call) {
  const few = [];
  const many = [];
  for (let round = 0; round < 11; round++) {
    few.push(await perQueuedCall(call, 10, 100));
    many.push(await perQueuedCall(call, 1_000, 1));
  }
  return { queued10: median(few), queued1000: median(many) };
}

/** Gives the mean over all calls of `repeats` rounds, in microseconds. */
async function perQueuedCall(call, queued, repeats) {
  const begun = performance.now();
  for (let at = 0; at < repeats; at++) {
    await Promise.all(Array.from({ length: queued }, () => call()));
  }
  return 1000 * (performance.now() - begun) / (queued * repeats);
}

function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1];
}
