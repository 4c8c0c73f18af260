import { expect, test } from "vitest";
import { loadEmbedder, similarity } from "./embeddings.ts";

test("the embedder gives vectors of 128 numbers and length 1, the same for the same text", async () => {
  const embedder = await loadEmbedder();
  const vector = embedder.embed("send an email");
  expect([embedder.dimensions, vector.length]).toEqual([128, 128]);
  expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
  expect(embedder.embed("send an email")).toEqual(vector);
});

test("similarity is 1 for vectors of one direction and any length, and 0 for a zero vector", () => {
  expect(similarity([1, 2], [10, 20])).toBeCloseTo(1);
  expect(similarity([1, 0], [0, 1])).toBe(0);
  expect(similarity([0, 0], [0, 1])).toBe(0);
});

test("refuses to compare vectors of different lengths", () => {
  expect(() => similarity([1], [1, 2])).toThrow("Vectors of 1 and 2 numbers");
});
