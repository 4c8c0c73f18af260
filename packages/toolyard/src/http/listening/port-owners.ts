/** Programs with this default port: parts of this package, and well-known programs. */
const OWNERS: ReadonlyMap<number, readonly string[]> = new Map([
  [8080, ["the core server (`toolyard core server`)", "Weaviate's HTTP API"]],
  [8808, ["the hub (`toolyard serve`)"]],
  [50_051, ["the datetime service (`toolyard services`)", "Weaviate's gRPC API"]],
  [50_052, ["the web-search service (`toolyard services`)"]],
  [50_053, ["the weather service (`toolyard services`)"]],
  [50_054, ["the geocoding service (`toolyard services`)"]],
]);

/**
 * Returns a sentence with a leading space about the programs that use a port. Returns an empty text for an unknown
 * port.
 */
export function ownersOf(port: number): string {
  const owners = OWNERS.get(port);
  return owners ? ` It is the default of ${owners.join(" and of ")}.` : "";
}
