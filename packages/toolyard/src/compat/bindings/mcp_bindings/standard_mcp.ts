export { StandardMCPBinding } from "../standard-mcp.ts";

/** Name of this module's binding class. */
export const BindingName = "StandardMCPBinding";
