export { RemoteMCPBinding } from "../remote-mcp.ts";

/** Name of this module's binding class. */
export const BindingName = "RemoteMCPBinding";
