/** Error that states why a picture cannot be drawn, and what to do. */
export class PictureError extends Error {
  override readonly name = "PictureError";
}
