export * from "@toolyard/library";
