// The bundler collects style sheets.
declare module "*.css";
