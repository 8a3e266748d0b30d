declare module "worker:*" {
  const code: string;
  export default code;
}
declare module "*.css";
