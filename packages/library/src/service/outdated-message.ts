/** Returns the message that another version of the library read some documents of a collection. */
export function outdatedMessage(count: number, collection: string): string {
  const documents = count === 1 ? "1 document" : `${count} documents`;
  return (
    `Another version of the library read ${documents} of the collection ${collection}, so that its quotations or ` +
    "pages may be wrong. A user can run `toolyard library renew` to read the files again."
  );
}
