import { firstChars } from "toolyard/text";
/** Characters without width that letters and emoji need: joiners and variation selectors. */
const NEEDED = String.raw`\u200c\u200d\ufe0e\ufe0f\u115f\u1160\u180b-\u180f`;
/** Characters that a person does not see and a model reads, and those that a terminal obeys. */
const HIDDEN = new RegExp(
  String.raw`(?![${NEEDED}])[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u0000-\u0008\u000e-\u001f\u007f-\u009f]`,
  "gu",
);
/** Ends of lines and of pages by other signs. */
const ENDS = /\r\n?|[\v\f\u0085\u2028\u2029]/gu;
/** Most texts: one look that costs next to nothing. */
const PLAIN = /^[\t\n -~]*$/;
const MAX_LINE = 500;

/** A text as a person sees it, which is what a model is given of it. */
export function visibleText(text: string): string {
  return PLAIN.test(text) ? text : text.replaceAll(ENDS, "\n").replaceAll(HIDDEN, "");
}

/** The same in one line, cut where it is longer than any title is. */
export function visibleLine(text: string, most = MAX_LINE): string {
  const line = visibleText(firstChars(text, most * 2))
    .replaceAll(/\s+/gu, " ")
    .trim();
  return line.length <= most ? line : `${firstChars(line, most - 1).trimEnd()}…`;
}
