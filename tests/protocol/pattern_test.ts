import { assertEquals } from "@std/assert";
import { faultOf } from "../../protocol/_pattern.ts";

Deno.test("faultOf() gives undefined when a pattern is linear", () => {
  const patterns = [
    "^[A-Z]{2,3}$",
    "^(a|b)$",
    "^[a-z0-9]+(-[a-z0-9]+)*$",
    "^([a-z0-9-]+\\.)+[a-z]{2,}$",
    "^(?:/[^/]+)+$",
    "^\\d+(,\\d+)*$",
    "^(?:(?:25[0-5]|2[0-4]\\d|[01]?\\d\\d?)\\.){3}(?:25[0-5])$",
    "^([A-Za-z0-9+/]{4})*$",
    "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
    "(\\([a-z]*\\))*",
    "^(?<year>\\d{4})-(?:0[1-9]|1[0-2])$",
    "[(+*]*",
    "^(https?|ftp)://\\S+$",
    "^(é[a-z]+)*$",
    "(💚a+)*",
    "(a+){2}",
  ];
  assertEquals(patterns.filter((pattern) => faultOf(pattern)), []);
});

Deno.test("faultOf() refuses a pattern when it nests repetition", () => {
  const patterns = [
    "^(a+)+$",
    "(a|a)*",
    "(a?){30}",
    "(a{1,3})*",
    "(a*){1,10}",
    "([a-z]+){2,}",
    "^(\\w+\\s?)*$",
    "((a|b)+)+",
    "(?:(?:a+))+",
    "(?<name>a+)+",
    "(?:-?[a-z]+)*",
    "(-[a-z-]+)*",
    "(-a|-b+)*",
    "(.*,)+",
    "((a+)b?)*",
    "(?=(a+)+)b",
    "(b)(\\1a+)*",
    "(,(a+))*x(a+)+",
  ];
  const fault = "no repetition within a repetition";
  assertEquals(patterns.filter((pattern) => faultOf(pattern) !== fault), []);
});

Deno.test("faultOf() refuses a pattern when it is no regular expression", () => {
  for (const pattern of ["(", "[", "a**", "\\-", "[\\w-.]", "(?<a>b)\\k<c>"]) {
    assertEquals(faultOf(pattern), "a regular expression that flag u allows");
  }
});
