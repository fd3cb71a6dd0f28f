"""Keywords by which a Chinese request is told, written apart from the composer's own tables: what was asked must still be asked."""

from __future__ import annotations

from dialmill.schemas import Turn

_NEAR = ("周边", "周围", "附近", "旁边")
#: Slot -> groups of words; a turn asks for the slot if it shows one word of each group.
CUES: dict[str, tuple[tuple[str, ...], ...]] = {
    "酒店类型": (("类型", "型", "星", "酒店", "什么样", "档"),),
    "门票": (("门票", "票价", "多少钱", "票", "花多少", "收费"),),
    "门票价格": (("门票", "票价", "多少钱", "票", "花多少", "收费"),),
    "票价": (("门票", "票价", "多少钱", "票", "花多少", "收费"),),
    "地址": (("地址", "在哪", "位置", "哪里", "哪儿", "地方", "怎么走", "怎么去", "怎么过去"),),
    "电话": (("电话", "号码", "联系", "打给"),),
    "电话号码": (("电话", "号码", "联系", "打给"),),
    "评分": (("评分", "分", "评价", "口碑"),),
    "豆瓣评分": (("评分", "分", "评价", "口碑"),),
    "营业时间": (("营业", "几点", "时间", "开门", "关门"),),
    "开放时间": (("开放", "几点", "时间", "开门", "关门"),),
    "游玩时间": (("玩多久", "游玩", "多长", "多久", "时间"),),
    "人均消费": (("人均", "消费", "多少钱", "花", "贵"),),
    "周边景点": (_NEAR, ("景",)),
    "周边餐馆": (_NEAR, ("吃", "餐", "饭")),
    "周边酒店": (_NEAR, ("酒店", "住")),
    "推荐菜": (("菜", "吃", "招牌"),),
    "价格": (("价", "钱", "费"),),
    "房费": (("房费", "多少钱", "价"),),
    "车型": (("车型",),),
    "车牌": (("车牌",),),
    "出发地附近地铁站": (("地铁站",), ("出发地", "两", "起点", "上车", "上下车", "上、", "附近")),
    "目的地附近地铁站": (("地铁站",), ("目的地", "两", "终点", "下车", "哪个站下", "附近")),
    "停车场": (("停车",),),
    "是否地铁直达": (("地铁",),),
    "特点": (("特点",),),
    "天气": (("天气",),),
    "温度": (("温度", "气温", "多少度"),),
    "风力风向": (("风",),),
    "紫外线强度": (("紫外线",),),
    "导演": (("导演",),),
    "主演名单": (("主演",),),
    "集数": (("集",),),
    "片长": (("片长",),),
    "准点率": (("准点率",),),
    "起飞时间": (("起飞",),),
    "到达时间": (("到达", "能到"),),
    "出发时间": (("出发", "发车"),),
}
_FACILITY = "酒店设施-"


def lost(before: Turn, after: Turn) -> list[str]:
    """The requests and facilities that the source shows and the variant doesn't."""
    found = []
    for act in before.acts:
        slot = act.slot or ""
        if slot.startswith(_FACILITY):
            name = slot[len(_FACILITY) :][:2].lower()
            if name in before.utterance.lower() and name not in after.utterance.lower():
                found.append(slot)
        elif act.act == "request" and slot in CUES:
            shown = all(any(cue in before.utterance for cue in group) for group in CUES[slot])
            if shown and not all(any(cue in after.utterance for cue in group) for group in CUES[slot]):
                found.append(slot)
    return found
