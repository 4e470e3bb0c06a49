/**
 * Common emoji in groups. Each word is an emoji with its shortcodes (the first is its name), and `^` if it
 * has skin tones. The shortcodes are those that people know from other messengers.
 */
export const GROUPS = {
  faces: `😀grinning 😃smiley 😄smile,happy 😁grin 😆laughing,satisfied,haha 😅sweat_smile 🤣rofl 😂joy,lol,tears 🙂slight_smile 🙃upside_down
😉wink 😊blush 😇innocent,angel 🥰smiling_hearts,in_love 😍heart_eyes 🤩star_struck 😘kissing_heart,kiss 😗kissing 😋yum 😛tongue 😜winking_tongue
🤪zany,crazy 😝squinting_tongue 🤑money_mouth 🤗hugs,hug 🤭hand_over_mouth,oops 🤫shushing,quiet 🤔thinking,hmm 🤐zipper_mouth 🤨raised_eyebrow
😐neutral 😑expressionless 😶no_mouth 😏smirk 😒unamused 🙄eye_roll,rolling_eyes 😬grimacing 🤥lying 😌relieved 😔pensive 😪sleepy 🤤drooling
😴sleeping,zzz 😷mask,ill 🤒thermometer,sick 🤕head_bandage,hurt 🤢nauseated 🤮vomiting 🤧sneezing 🥵hot 🥶cold 🥴woozy 😵dizzy 🤯mind_blown,exploding_head
🤠cowboy 🥳partying,party 😎sunglasses,cool 🤓nerd 🧐monocle 😕confused 😟worried 🙁slight_frown ☹️frown 😮open_mouth,wow 😲astonished
😳flushed 🥺pleading,please 😨fearful 😰anxious 😥disappointed_relieved 😢cry,sad 😭sob 😱scream 😖confounded 😞disappointed 😓sweat 😩weary
😫tired 🥱yawning 😤triumph 😡rage,angry 😠mad 🤬cursing 😈smiling_imp 👿imp 💀skull 💩poop 🤡clown 👻ghost 👽alien 🤖robot 🎃jack_o_lantern
😺smiley_cat 😹joy_cat 😻heart_eyes_cat 🙈see_no_evil 🙉hear_no_evil 🙊speak_no_evil`,
  people: `👋wave,hello,bye^ 🤚raised_back_of_hand^ ✋raised_hand,stop^ 🖖vulcan^ 👌ok_hand,ok^ 🤏pinching^ ✌️victory,peace^ 🤞crossed_fingers,luck^ 🤟love_you^
🤘metal,horns^ 🤙call_me^ 👈point_left^ 👉point_right^ 👆point_up^ 👇point_down^ 👍+1,thumbsup,yes,like^ 👎-1,thumbsdown,no,dislike^ ✊fist^ 👊punch^
👏clap,bravo^ 🙌raised_hands,hooray^ 👐open_hands^ 🤲palms_up^ 🤝handshake,deal 🙏pray,thanks,thank_you^ ✍️writing_hand^ 💪muscle,strong^ 👂ear^ 👃nose^
👀eyes,look 🧠brain 👅tongue_out 👄lips 👶baby^ 🧒child^ 👦boy^ 👧girl^ 🧑person^ 👨man^ 👩woman^ 🧓older_person^ 👴old_man^ 👵old_woman^ 🙋raising_hand,me^
🙅no_good^ 🙆all_good^ 💁information_desk^ 🤷shrug,dunno^ 🤦facepalm^ 🙇bow^ 👮police^ 👷builder^ 👩‍💻technologist 👨‍🍳cook 🧑‍🌾farmer 🧑‍🎤singer
🧙mage^ 🧛vampire^ 🧜merperson^ 🏃running,run^ 🚶walking^ 💃dancer^ 🕺man_dancing^ 👯bunny_ears 🧘meditating^ 👪family 👫couple`,
  hearts: `❤️heart,love 🧡orange_heart 💛yellow_heart 💚green_heart 💙blue_heart 💜purple_heart 🖤black_heart 🤍white_heart 🤎brown_heart 💔broken_heart
💕two_hearts 💞revolving_hearts 💓heartbeat 💗growing_heart 💖sparkling_heart 💘cupid 💝gift_heart 💯100,hundred 💢anger 💥boom 💫dizzy_star 💦sweat_drops 💨dash
💬speech 💭thought 💤sleep 🔥fire,hot_stuff ✨sparkles ⭐star 🌟glowing_star ✅white_check_mark,done,check ✔️check_mark ❌x,cross ❓question ❗exclamation ‼️bangbang
⚠️warning 🚫no_entry ♻️recycle ➕plus ➖minus ➡️arrow_right ⬅️arrow_left ⬆️arrow_up ⬇️arrow_down 🔴red_circle 🟠orange_circle 🟡yellow_circle
🟢green_circle 🔵blue_circle ⚪white_circle ⚫black_circle 🆗ok_sign 🆕new 🆒cool_sign 🔔bell 🎵music,note 🏳️‍🌈rainbow_flag 🏁checkered_flag`,
  nature: `🐶dog 🐱cat 🐭mouse 🐹hamster 🐰rabbit 🦊fox 🐻bear 🐼panda 🐨koala 🐯tiger 🦁lion 🐮cow 🐷pig 🐸frog 🐵monkey 🐔chicken 🐧penguin 🐦bird 🐤chick 🦆duck
🦅eagle 🦉owl 🐺wolf 🐴horse 🦄unicorn 🐝bee 🐛bug,caterpillar 🦋butterfly 🐌snail 🐞ladybug 🐜ant 🕷️spider 🐢turtle 🐍snake 🐙octopus 🦀crab 🐟fish 🐬dolphin 🐳whale
🦈shark 🐘elephant 🦔hedgehog 🐿️chipmunk 🌵cactus 🎄christmas_tree 🌲evergreen 🌳tree 🌴palm_tree 🌱seedling 🌿herb 🍀four_leaf_clover,lucky 🍁maple_leaf
🍂fallen_leaf 🍄mushroom 💐bouquet 🌷tulip 🌹rose 🌺hibiscus 🌸cherry_blossom 🌼blossom 🌻sunflower 🌞sun_face 🌝moon_face 🌙moon ☀️sunny,sun ⛅partly_sunny ☁️cloud
🌧️rain ⛈️thunderstorm ❄️snowflake,snow ☃️snowman ⚡zap,lightning 🌈rainbow 🌊ocean,water_wave 💧droplet`,
  food: `🍏green_apple 🍎apple 🍐pear 🍊tangerine,orange 🍋lemon 🍌banana 🍉watermelon 🍇grapes 🍓strawberry 🍒cherries 🍑peach 🥭mango 🍍pineapple 🥥coconut 🥝kiwi
🍅tomato 🥑avocado 🥦broccoli 🥒cucumber 🌶️hot_pepper,chili 🌽corn 🥕carrot 🥔potato 🧄garlic 🧅onion 🥐croissant 🍞bread 🥨pretzel 🧀cheese 🥚egg 🍳cooking 🥞pancakes
🥓bacon 🍔burger 🍟fries 🍕pizza 🌭hot_dog 🥪sandwich 🌮taco 🌯burrito 🥗salad 🍝spaghetti,pasta 🍜ramen 🍲stew 🍣sushi 🍚rice 🍦icecream 🍩doughnut 🍪cookie
🎂birthday,cake 🍰shortcake 🧁cupcake 🍫chocolate 🍬candy 🍿popcorn 🍯honey ☕coffee 🍵tea 🧃juice 🥤soda 🍺beer 🍻cheers,beers 🥂clinking_glasses 🍷wine 🍸cocktail 🍾champagne`,
  travel: `🚗car 🚕taxi 🚌bus 🏎️racing_car 🚑ambulance 🚒fire_engine 🚚truck 🚜tractor 🚲bike,bicycle 🛴scooter 🏍️motorcycle 🚂train 🚆railway 🚇metro ✈️airplane 🚀rocket,ship_it
🛸ufo 🚁helicopter ⛵sailboat 🚢ship ⚓anchor 🗺️map 🗽liberty 🏰castle 🏠house,home 🏢office 🏥hospital 🏫school ⛪church 🕌mosque ⛺tent,camping 🏖️beach 🏔️mountain
🌋volcano 🏝️island 🌍earth,world 🌅sunrise 🌃night 🎡ferris_wheel 🎢roller_coaster ⏰alarm_clock ⌛hourglass ⏳hourglass_flowing`,
  things: `⚽soccer,football 🏀basketball 🏈american_football ⚾baseball 🎾tennis 🏐volleyball 🏓ping_pong 🥊boxing 🎯dart,bullseye ⛳golf 🎣fishing 🎿ski 🏆trophy 🥇gold,first
🥈silver 🥉bronze 🏅medal 🎉tada,hooray_party,congratulations 🎊confetti 🎈balloon 🎁gift,present 🎀ribbon 🎮video_game,game 🎲dice 🧩puzzle 🎨art 🎭theatre 🎤microphone
🎧headphones 🎸guitar 🎹piano 🥁drum 🎬clapper,film 📷camera 📱phone 💻laptop,computer ⌨️keyboard 🖨️printer 📺tv 🔋battery 🔌plug 💡bulb,idea 🔦flashlight
💰money 💳credit_card 💎gem 🔧wrench 🔨hammer 🛠️tools ⚙️gear 🔗link 🧲magnet 💊pill 💉syringe 🔬microscope 🔭telescope 📚books 📖book 📝memo,note_paper ✏️pencil 📌pushpin
📎paperclip ✂️scissors 📅calendar 📈chart_up 📉chart_down 📦package 📧email 📣megaphone 🔒lock 🔓unlock 🔑key 🗑️wastebasket 👑crown 👓glasses 👕shirt 👟sneaker 🎒backpack ☂️umbrella`,
} as const;
