import Theme from "vitepress/theme-without-fonts";
import LanguageTabs from "./LanguageTabs.vue";
import "./style.css";

export default { extends: Theme, enhanceApp: ({ app }) => app.component("LanguageTabs", LanguageTabs) };
