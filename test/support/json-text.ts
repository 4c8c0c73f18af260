import * as fc from "fast-check";

/** Generates compact JSON in which each number is an integer, many beyond 2^53. */
export function jsonText(): fc.Arbitrary<string> {
  const integer = fc.oneof(
    fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }),
    fc.bigInt({ min: 2n ** 53n - 9n, max: 2n ** 53n + 9n }),
    fc.bigInt({ min: -9n, max: 9n }),
  );
  const string = fc.oneof(fc.string({ unit: "binary" }), integer.map(String), fc.constant('"\\'));
  const { node } = fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      integer.map(String),
      string.map((text) => JSON.stringify(text)),
      fc.constantFrom("null", "true", "false"),
      fc.array(tie("node"), { maxLength: 5 }).map((items) => `[${items.join(",")}]`),
      // Names that begin with a letter keep the order in which they are written.
      fc
        .dictionary(
          string.map((name) => `k${name}`),
          tie("node"),
          { maxKeys: 5 },
        )
        .map(
          (members) =>
            `{${Object.entries(members)
              .map(([name, member]) => `${JSON.stringify(name)}:${member}`)
              .join(",")}}`,
        ),
    ),
  }));
  return node;
}
